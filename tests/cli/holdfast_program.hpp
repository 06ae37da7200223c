// SPDX-License-Identifier: Apache-2.0
//
// The program under test, with a home and a store of its own.
#pragma once

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {

class Cli : public testing::Test {
 protected:
  // HOME is an empty folder, HOLDFAST_STORE a file store in it; this machine's settings are out of
  // reach.
  std::vector<std::string> environment() const {
    return {"HOME=" + folder_.path().string(), "HOLDFAST_STORE=" + store(),
            "HOLDFAST_SYSTEM_CONFIG=" + path("machine.yml")};
  }
  std::string store() const { return "file:" + (folder_.path() / "locks").string(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  static std::vector<std::string> words(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HOLDFAST_BINARY);
    return arguments;
  }
  ProgramOptions with(ProgramOptions options) const {
    auto all = environment();
    all.insert(all.end(), options.environment.begin(), options.environment.end());
    options.environment = std::move(all);
    return options;
  }
  Finished holdfast(std::vector<std::string> arguments, ProgramOptions options = {}) const {
    return run(words(std::move(arguments)), with(std::move(options)));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace holdfast::test
