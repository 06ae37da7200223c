// SPDX-License-Identifier: Apache-2.0
//
// A request of Forrst: whatever it is, it is refused with a reason, or what was understood can be
// written down and is understood as the same again.
#include <holdfast/forrst/service.hpp>

#include "forrst/envelope.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace holdfast::forrst;
namespace json = boost::json;

void check(bool good) {
  if (!good) std::abort();
}

void check_refusal(const Refusal& refusal, std::size_t size) {
  check(!refusal.faults.empty() && refusal.faults.size() <= max_faults);
  check(!refusal.id || (!refusal.id->empty() && refusal.id->size() <= max_id_bytes));
  for (const auto& fault : refusal.faults) {
    check(!fault.code.empty() && !fault.message.empty());
    check(!(fault.pointer && fault.position));
    check((fault.code == codes::parse_error) == fault.position.has_value());
    check(!fault.position || *fault.position <= size);
  }
}

// The parser may be off by the last bit of a double, and beyond the largest one.
bool has_exact_numbers(const json::value& value) {
  if (value.is_double()) return false;
  if (const auto* array = value.if_array()) {
    for (const auto& each : *array) {
      if (!has_exact_numbers(each)) return false;
    }
  }
  if (const auto* object = value.if_object()) {
    for (const auto& each : *object) {
      if (!has_exact_numbers(each.value())) return false;
    }
  }
  return true;
}

json::value written(const Envelope& envelope) {
  json::array extensions;
  for (const auto& each : envelope.extensions) {
    extensions.push_back(json::object{{"urn", each.urn}, {"options", each.options}});
  }
  json::object call{{"function", envelope.function}, {"arguments", envelope.arguments}};
  if (envelope.version) call["version"] = *envelope.version;
  return json::object{{"protocol", {{"name", "forrst"}, {"version", "0.1.0"}}},
                      {"id", envelope.id},
                      {"call", std::move(call)},
                      {"context", envelope.context},
                      {"extensions", std::move(extensions)}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto envelope = parse_envelope({reinterpret_cast<const char*>(data), size});
  if (!envelope) {
    check_refusal(envelope.error(), size);
    return 0;
  }
  check(!envelope->id.empty() && envelope->id.size() <= max_id_bytes);
  check(!envelope->function.empty() && envelope->function.size() <= max_function_bytes);
  check(envelope->extensions.size() <= max_extensions);
  const auto first = written(*envelope);
  if (!has_exact_numbers(first)) return 0;
  const auto again = parse_envelope(json::serialize(first));
  check(again.has_value() && written(*again) == first);
  return 0;
}
