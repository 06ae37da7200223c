// SPDX-License-Identifier: Apache-2.0
//
// The scripts that run inside Redis: the files of lua/ put together, one script per command.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::backends::redis {

enum class Script : std::uint8_t {
  acquire,
  renew,
  release,
  force_release,
  inspect,
  check_fence,
  fixed_window,
  sliding_window,
  token_bucket,
  shared_window,
  run,
  raise_fence
};

class Scripts {
 public:
  struct Options {
    std::string_view dialect;   // a file of lua/dialects; empty for Holdfast's own layout
    std::uint32_t unit_ms = 1;  // a ttl of the dialect's key is a multiple of this
    std::uint32_t audit = 0;    // how many events to keep beside each lock
    std::string_view prelude;   // put before each script: a test brings a clock of its own
  };
  struct Source {
    std::string text;
    std::string sha1;  // 40 hexadecimal digits
  };

  explicit Scripts(const Options& options);
  const Source& operator[](Script script) const {
    return sources_[static_cast<std::size_t>(script)];
  }
  // Whether events are kept, in a key of its own.
  bool audited() const { return audited_; }

 private:
  std::array<Source, 12> sources_;
  bool audited_;
};

}  // namespace holdfast::backends::redis
