// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong in front of payments, one scene each, and whether the books are right after it.
#pragma once

#include "shop.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace payments {

// Where everything is: the same for this program and for the ones that it starts.
struct Place {
  std::string program;  // this one, to be started again
  std::string folder;   // of the store and the books
  Layers layers;

  std::string store() const { return "file:" + folder + "/locks"; }
  std::string books() const { return folder + "/books.sqlite"; }
};

struct Scene {
  std::string title;
  std::string story;  // what happened
  std::vector<std::string>
      mistakes;  // what is wrong in the books, or with what customers were told
};

// A customer sends the same request eight times at once, once more later, and once with another
// amount.
Scene duplicates(const Place& place);
// Two orders are paid from one account at the same time.
Scene two_orders(const Place& place);
// A process is stopped between reading and writing for longer than its lease lasts.
Scene a_pause(const Place& place);
// A process is killed between booking and answering.
Scene a_crash(const Place& place);

// What a process that is started by a scene does: pays, and stops or dies in the middle.
int pay_and_stop(const Place& place, const Payment& payment, std::string_view what);

}  // namespace payments
