// SPDX-License-Identifier: Apache-2.0
//
// The files of workflows. All of a command's files appear together, or none does.
#pragma once

#include <holdfast/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

struct FileLimit {
  std::size_t bytes = 0;
  std::string_view name;  // as in docs/limits.md
};

// Errors: bad_input for what cannot be read, limit_reached for what is too long.
Result<std::string> read_file(const std::string& path, const FileLimit& limit);

class FileBatch {
 public:
  enum class IfThere { refuse, replace };

  FileBatch() = default;
  FileBatch(const FileBatch&) = delete;
  FileBatch& operator=(const FileBatch&) = delete;
  ~FileBatch();  // removes what was not committed

  // Writes the text beside the path. What is replaced keeps its owner and mode. Errors: bad_input,
  // and for `refuse` also if there is such a file.
  Result<void> add(const std::string& path, std::string_view text, IfThere if_there);

  // Puts all of them in place. Errors: unavailable, or bad_input for a file that has appeared
  // meanwhile; then everything is as before.
  Result<void> commit();

 private:
  struct Entry {
    std::string path;
    std::string fresh;   // the new text, until it is in place
    std::string backup;  // the old one, until all are in place
    IfThere if_there = IfThere::refuse;
  };
  static Result<void> put(Entry& entry);
  void take_back(std::size_t count);

  std::vector<Entry> entries_;
};

}  // namespace holdfast::cli
