// Writes n5_lz4.json: streams of lz4-java's LZ4BlockOutputStream, with which N5 compresses blocks as "lz4" (Lz4Compression of
// github:saalfeldlab/n5), and what they decode to. With bytes in hex as an argument, it decodes them as N5 does instead.
//
//     javac -cp lz4-java.jar MakeN5Lz4.java && java -cp lz4-java.jar:. MakeN5Lz4 > n5_lz4.json     (lz4-java 1.8.0)

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.Random;
import net.jpountz.lz4.LZ4BlockInputStream;
import net.jpountz.lz4.LZ4BlockOutputStream;
import net.jpountz.lz4.LZ4Factory;

class MakeN5Lz4 {
  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) {
      byte[] stream = HexFormat.of().parseHex(arguments[0]);
      System.out.println(HexFormat.of().formatHex(new LZ4BlockInputStream(new ByteArrayInputStream(stream)).readAllBytes()));
      return;
    }
    Random random = new Random(15);
    byte[] runs = new byte[600], noise = new byte[300];
    for (int i = 0; i < runs.length; ++i) runs[i] = (byte) (i / 50);
    random.nextBytes(noise);
    byte[][] contents = {new byte[0], {7}, runs, noise};
    System.out.println("[");
    for (int c = 0; c < contents.length; ++c)
      for (int blockSize : new int[] {64, 256, 65536}) {
        boolean last = c == contents.length - 1 && blockSize == 65536;
        System.out.println("{\"decoded\": \"" + HexFormat.of().formatHex(contents[c]) + "\", \"encoded\": \""
            + HexFormat.of().formatHex(encoded(contents[c], blockSize)) + "\"}" + (last ? "" : ","));
      }
    System.out.println("]");
  }

  static byte[] encoded(byte[] content, int blockSize) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (LZ4BlockOutputStream stream = new LZ4BlockOutputStream(bytes, blockSize, LZ4Factory.safeInstance().fastCompressor())) {
      stream.write(content);
    }
    return bytes.toByteArray();
  }
}
