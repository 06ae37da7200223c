// SPDX-License-Identifier: Apache-2.0
//
// Which file systems a store can be in.
#pragma once

#include <string>

namespace holdfast::backends::file {

struct FileSystem {
  std::string name;
  // One kernel has it alone, so its mapped memory, futexes and locks are those of all processes
  // that reach the folder. Only what is known to be so counts: two machines on one folder would
  // each have a lock of their own, and remove each other's files.
  bool is_local = false;
  // Space that was allocated for a file is there for good. On file systems that copy on write a
  // full disk can refuse any write, and a write into a mapping then kills the process.
  bool keeps_allocated_space = false;
};

// By the type that statfs() tells. One that is not known has its number as name.
FileSystem file_system_of(unsigned long type);

}  // namespace holdfast::backends::file
