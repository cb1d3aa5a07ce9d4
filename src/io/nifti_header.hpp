// The NIfTI-1 and NIfTI-2 headers as fields, with the offset and width of each in both versions. Offsets and types are
// those of nifti1.h and nifti2.h (the public standard of the NIfTI working group).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/files.hpp"
#include "io/image.hpp"
#include "sherd/json.hpp"

namespace sherd {

/// A field of numbers: its offset and the letter of its type (b 8, h 16, i 32, q 64 bits; f 32, d 64 bits).
struct NiftiField {
  std::uint16_t at1;
  char type1;
  std::uint16_t at2;
  char type2;
};
namespace nifti {
inline constexpr NiftiField dim{40, 'h', 16, 'q'}, intent_code{68, 'h', 504, 'i'}, datatype{70, 'h', 12, 'h'},
    bitpix{72, 'h', 14, 'h'}, pixdim{76, 'f', 104, 'd'}, vox_offset{108, 'f', 168, 'q'}, scl_slope{112, 'f', 176, 'd'},
    scl_inter{116, 'f', 184, 'd'}, xyzt_units{123, 'b', 500, 'i'}, cal_max{124, 'f', 192, 'd'},
    cal_min{128, 'f', 200, 'd'}, qform_code{252, 'h', 344, 'i'}, sform_code{254, 'h', 348, 'i'},
    quatern{256, 'f', 352, 'd'}, qoffset{268, 'f', 376, 'd'}, srow{280, 'f', 400, 'd'};
/// Text: offset in versions 1 and 2, length.
struct Text {
  std::uint16_t at1, at2, length;
};
inline constexpr Text descrip{148, 240, 80}, intent_name{328, 508, 16};
}  // namespace nifti

class NiftiHeader {
 public:
  static constexpr std::size_t kSize1 = 348, kSize2 = 540;

  /// An empty header of version 1 or 2, in native byte order.
  explicit NiftiHeader(int version);
  /// Reads size, byte order, version and magic; nothing else is checked.
  static Result<NiftiHeader> read(FileBytes& bytes);

  [[nodiscard]] int version() const noexcept { return version_; }
  [[nodiscard]] bool swapped() const noexcept { return swapped_; }
  /// Whether the elements are in a separate file (.img).
  [[nodiscard]] bool is_pair() const noexcept { return pair_; }
  [[nodiscard]] std::int64_t integer(NiftiField field, std::size_t i = 0) const noexcept;
  [[nodiscard]] double real(NiftiField field, std::size_t i = 0) const noexcept;
  [[nodiscard]] std::string text(nifti::Text field) const;
  void set(NiftiField field, double value, std::size_t i = 0) noexcept;
  void set_text(nifti::Text field, std::string_view text) noexcept;
  /// The header as in a .nii file, with the four bytes that mean that no extension follows.
  [[nodiscard]] std::string print() const;

 private:
  [[nodiscard]] std::uint64_t word(std::size_t at, std::size_t size) const noexcept;

  std::array<std::byte, kSize2> bytes_{};
  int version_ = 1;
  bool swapped_ = false;
  bool pair_ = false;
};

/// From voxel (x, y, z, 1) to space: the sform, else the qform, else only the spacing; and the code of the form used.
struct NiftiSpace {
  AffineMatrix affine;
  std::int64_t code;
};
[[nodiscard]] NiftiSpace nifti_space(const NiftiHeader& header) noexcept;

/// Whether the fourth dimension exists only because a fifth one follows: it has length 1 and no length in time. The
/// array does not have this dimension.
[[nodiscard]] bool has_filler(const NiftiHeader& header) noexcept;

/// A header's metadata other than shape and type; `rank` dimensions, slowest first: affine, spacing, units, scl_slope …
[[nodiscard]] Json nifti_attributes(const NiftiHeader& header, std::size_t rank);
/// The inverse: spacing, affine, units and the rest, if the attributes have them.
Result<void> set_nifti_attributes(NiftiHeader& header, const Json& attributes, std::size_t rank);

}  // namespace sherd
