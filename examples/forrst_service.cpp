// SPDX-License-Identifier: Apache-2.0
//
// Functions in C++ that Forrst clients call, each under a lock if the call says so. A service has
// no transport of its own: here the requests are texts, in your program they come from its server.
#include <holdfast/forrst/service.hpp>
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <string>

namespace forrst = holdfast::forrst;

namespace {

forrst::Outcome charge(const forrst::Invocation& call) {
  const auto amount = call.arguments.at("amount").to_number<int>();
  if (amount > 1000) {
    return std::unexpected(forrst::Fault{.code = "CARD_DECLINED", .message = "too much"});
  }
  // Whatever keeps the money should refuse fences that are older than the newest it has seen.
  std::cout << "charging " << amount << " under fence " << (call.lock ? call.lock->fence : 0)
            << '\n';
  return boost::json::object{{"charge_id", "ch_" + call.id}, {"status", "succeeded"}};
}

std::string request(std::string_view id, int amount) {
  return R"({"protocol": {"name": "forrst", "version": "0.1.0"}, "id": ")" + std::string(id) +
         R"(", "call": {"function": "payments.charge", "arguments": {"amount": )" +
         std::to_string(amount) +
         R"(}}, "extensions": [{"urn": "urn:forrst:ext:atomicLock",
             "options": {"key": "user:123", "ttl": {"value": 30, "unit": "second"}}}]})";
}

}  // namespace

int main() {
  auto service = forrst::Service::make(*holdfast::open("memory:"));
  if (!service) return 1;
  const auto added = service->add({.name = "payments.charge",
                                   .description = "Takes money from a card",
                                   .arguments = {{.name = "amount",
                                                  .type = forrst::Rule::Type::integer,
                                                  .is_required = true,
                                                  .minimum = 1}},
                                   .handler = charge});
  if (!added) {
    std::cerr << added.error().message << '\n';
    return 1;
  }
  bool is_good = true;
  for (const auto& [amount, status] :
       {std::pair(100, 200), std::pair(5000, 400), std::pair(0, 400)}) {
    const auto reply = service->handle(request("req_" + std::to_string(amount), amount));
    std::cout << reply.status << ' ' << reply.body << '\n';
    is_good = is_good && reply.status == status;
  }
  return is_good ? 0 : 1;
}
