// SPDX-License-Identifier: Apache-2.0
//
// The database of a shop: accounts with a balance, and one line for each payment. Its two layers of
// protection can be left out, to see what they are good for.
#pragma once

#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace payments {

struct Layers {
  bool idempotency = true;
  bool lock = true;
  bool constraint = true;
  bool fence = true;
};

enum class Booked : std::uint8_t {
  paid,         // just now
  paid_before,  // the constraint found a payment of this order, and nothing was changed
  too_old,      // the account has seen a newer fence, and nothing was changed
};

struct Account {
  std::string name;
  std::int64_t balance = 0;
};

class Books {
 public:
  // Makes the tables where they are not there yet. Throws std::runtime_error, as all of them do.
  Books(const std::string& path, const Layers& layers);

  void open_account(const std::string& account, std::int64_t balance);
  std::int64_t balance(const std::string& account) const;
  // Writes the new balance and the payment, both or none.
  Booked book(const std::string& order, const Account& after, std::int64_t amount,
              holdfast::Fence fence);
  // How often an order was paid for.
  std::int64_t times_paid(const std::string& order) const;
  // What all payments from an account come to.
  std::int64_t spent(const std::string& account) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  void run(const char* statements) const;
  // Runs one statement. What it answers first, or how many rows it changed.
  std::int64_t ask(const std::string& statement, const std::vector<std::string>& values) const;

  std::unique_ptr<sqlite3, Close> database_;
  Layers layers_;
};

}  // namespace payments
