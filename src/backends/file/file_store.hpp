// SPDX-License-Identifier: Apache-2.0
//
// `file:` — locks between the processes of one machine. docs/stores/file.md has its promises.
#pragma once

#include "store/store.hpp"

#include <memory>
#include <string>

namespace holdfast::backends::file {

struct FileOptions {
  std::string path;  // a folder; empty: the user's default folder
  bool durable = false;
};

// Errors: bad_input (the path, or a folder that is used the other way), unsupported (a file system
// that other machines may share, another boot clock), limit_reached, unavailable.
Result<std::shared_ptr<store::Store>> open_file_store(FileOptions options,
                                                      std::shared_ptr<runtime::Runtime> runtime);

class Environment;

// For an environment that the caller has opened.
std::shared_ptr<store::Store> make_file_store(std::shared_ptr<Environment> environment,
                                              std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::backends::file
