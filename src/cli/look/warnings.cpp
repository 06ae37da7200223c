// SPDX-License-Identifier: Apache-2.0
#include "cli/look/warnings.hpp"

#include "cli/look/display.hpp"
#include "runtime/log.hpp"

#include <mutex>

namespace holdfast::cli {
namespace {

std::mutex mutex;
Console* shown_on = nullptr;  // guarded by mutex

// The library's own thread may come late, when the console is gone.
void show(std::string_view message) {
  const std::lock_guard lock(mutex);
  if (shown_on != nullptr) shown_on->detail(cleaned(message));
}

void show_on(Console* console) {
  const std::lock_guard lock(mutex);
  shown_on = console;
}

}  // namespace

WarningsAsDetails::WarningsAsDetails(Console& console) {
  show_on(&console);
  runtime::send_warnings_to(show);
}

WarningsAsDetails::~WarningsAsDetails() {
  runtime::send_warnings_to(nullptr);
  show_on(nullptr);
}

}  // namespace holdfast::cli
