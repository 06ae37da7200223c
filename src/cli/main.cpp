// SPDX-License-Identifier: Apache-2.0
#include "cli/app.hpp"
#include "cli/hide_secrets.hpp"
#include "cli/process/child.hpp"

int main(int count, char** words) {
  holdfast::cli::fill_closed_descriptors();
  std::vector<std::string> arguments{words + 1, words + count};
  holdfast::cli::hide_secrets({words + 1, words + count});
  return holdfast::cli::run_program(std::move(arguments));
}
