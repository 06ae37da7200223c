// SPDX-License-Identifier: Apache-2.0
#include "cli/app.hpp"

int main(int count, char** words) { return holdfast::cli::run_program({words + 1, words + count}); }
