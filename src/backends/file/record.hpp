// SPDX-License-Identifier: Apache-2.0
//
// How the record of a lock, or of another machine, lies in the database. LMDB's keys end at 511
// bytes and a name may have 512, so a long name is cut and completed by its hash; the whole name
// then stands in the value.
#pragma once

#include <holdfast/names.hpp>

#include "model/machine.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::backends::file {

inline constexpr std::size_t max_key_bytes = 511;
// Longer names are cut here. All names that share this many bytes stand together, so that a
// listing by prefix finds them in one walk.
inline constexpr std::size_t max_plain_name_bytes = 480;

class RecordKey {
 public:
  RecordKey(model::Machine machine, std::string_view name);
  std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  void append(std::string_view text);
  std::array<char, max_key_bytes> bytes_;
  std::size_t size_ = 0;
};

// The key at which a listing of names with this prefix begins, and which all of them start with.
std::string first_key(model::Machine machine, std::string_view prefix);

struct Record {
  std::string_view name;
  std::string_view state;  // as model::encode writes it
};

// Which machine a record belongs to. A newer version may know more of them than we do.
inline model::Machine machine_of_key(std::string_view key) {
  return static_cast<model::Machine>(key.empty() ? 0 : key.front());
}

// Views into key and value. Nothing if the bytes are not a record.
std::optional<Record> parse_record(std::string_view key, std::string_view value);

// The value for a state that model::encode has written to `state`, which is kept or changed.
void make_value(std::string_view name, std::string& state);

}  // namespace holdfast::backends::file
