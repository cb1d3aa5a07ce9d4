// Parallel requests of libcurl for ranges, or of whole objects to be stored: the bytes that a reader needs or a writer
// makes, and nothing else.
//   bench_curl FOLDER
// FOLDER/curl.txt has a line for each request: `CELL START END URL` or `CELL put FILE URL`. The protocol is that of
// remote_worker.py: a line with a cell makes all its requests, 32 at a time, over connections that stay open.
#include <curl/curl.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t parallel = 32;

struct Range {
  std::string url;
  std::size_t start = 0, end = 0;
  std::string stored = {};  ///< the bytes that are put; empty: a range is read
};

struct Slot {
  CURL* easy = nullptr;
  char* to = nullptr;
  std::size_t left = 0;
};

std::size_t receive(char* bytes, std::size_t /*one*/, std::size_t count, void* context) {
  Slot& slot = *static_cast<Slot*>(context);
  if (count > slot.left) return 0;
  std::memcpy(slot.to, bytes, count);
  slot.to += count;
  slot.left -= count;
  return count;
}

class Requests {
 public:
  Requests() : multi_(curl_multi_init()), headers_(curl_slist_append(nullptr, "Expect:")), slots_(parallel) {
    headers_ = curl_slist_append(headers_, "Content-Type:");
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, long{parallel});
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
    for (Slot& slot : slots_) {
      slot.easy = curl_easy_init();
      curl_easy_setopt(slot.easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
      curl_easy_setopt(slot.easy, CURLOPT_WRITEFUNCTION, &receive);
      curl_easy_setopt(slot.easy, CURLOPT_WRITEDATA, &slot);
      curl_easy_setopt(slot.easy, CURLOPT_PRIVATE, &slot);
      curl_easy_setopt(slot.easy, CURLOPT_BUFFERSIZE, 256L << 10);
      curl_easy_setopt(slot.easy, CURLOPT_FAILONERROR, 1L);
    }
  }

  void run(const std::vector<Range>& ranges, char* to) {
    std::size_t next = 0, running = 0;
    const auto begin = [&](Slot& slot) {
      if (next == ranges.size()) return;
      const Range& range = ranges[next++];
      slot.to = to;
      slot.left = range.end - range.start;
      to += slot.left;
      curl_easy_setopt(slot.easy, CURLOPT_URL, range.url.c_str());
      if (range.stored.empty()) {
        const std::string bounds = std::to_string(range.start) + "-" + std::to_string(range.end - 1);
        curl_easy_setopt(slot.easy, CURLOPT_RANGE, bounds.c_str());
      } else {
        curl_easy_setopt(slot.easy, CURLOPT_CUSTOMREQUEST, "PUT");
        curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(range.stored.size()));
        curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDS, range.stored.data());
        curl_easy_setopt(slot.easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
        curl_easy_setopt(slot.easy, CURLOPT_HTTPHEADER, headers_);
      }
      curl_multi_add_handle(multi_, slot.easy);
      ++running;
    };
    for (Slot& slot : slots_) begin(slot);
    while (running > 0) {
      int active = 0, queued = 0;
      curl_multi_perform(multi_, &active);
      while (const CURLMsg* const message = curl_multi_info_read(multi_, &queued)) {
        Slot* slot = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        if (message->data.result != CURLE_OK || slot->left != 0)
          throw std::runtime_error(std::string("libcurl: ") + curl_easy_strerror(message->data.result));
        curl_multi_remove_handle(multi_, slot->easy);
        --running;
        begin(*slot);
      }
      if (running > 0) curl_multi_poll(multi_, nullptr, 0, 100, nullptr);
    }
  }

 private:
  CURLM* multi_;
  curl_slist* headers_;
  std::vector<Slot> slots_;
};

std::map<std::string, std::vector<Range>> read(const std::string& path) {
  std::map<std::string, std::vector<Range>> cells;
  std::ifstream lines(path);
  for (std::string cell, start, end, url; lines >> cell >> start >> end >> url;) {
    Range range{.url = url};
    if (start == "put") {
      std::ifstream file(end, std::ios::binary);
      range.stored.assign(std::istreambuf_iterator<char>(file), {});
    } else {
      range.start = std::stoull(start);
      range.end = std::stoull(end);
    }
    cells[cell].push_back(std::move(range));
  }
  return cells;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void answer(Requests& requests, const std::vector<Range>& ranges) {
  static std::vector<char> bytes;  // stays mapped
  std::size_t size = 0;
  for (const Range& range : ranges) size += range.end - range.start;
  if (bytes.size() < size) bytes.resize(size);
  const auto start = std::chrono::steady_clock::now();
  const double cpu = processor_seconds();
  requests.run(ranges, bytes.data());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << "{\"seconds\": " << seconds.count() << ", \"cpu\": " << processor_seconds() - cpu << "}" << std::endl;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) throw std::runtime_error("bench_curl FOLDER");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto cells = read(std::string(arguments[1]) + "/curl.txt");
  std::cout << "{\"version\": \"libcurl " << curl_version_info(CURLVERSION_NOW)->version << "\"}" << std::endl;
  Requests requests;
  for (std::string line; std::getline(std::cin, line);) {
    std::string cell;
    std::istringstream(line) >> cell;
    answer(requests, cells.at(cell));
  }
} catch (const std::exception& failure) {
  std::cerr << "bench_curl: " << failure.what() << '\n';
  return 1;
}
