// SPDX-License-Identifier: Apache-2.0
#include "forrst/service_fixture.hpp"

#include "forrst/host.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace holdfast::test {

namespace {

Client fresh_store() {
  static std::atomic<int> number{0};
  return open("memory:forrst-" + std::to_string(++number)).value();
}

const json::object no_object;

const json::object& object_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : no_object;
}

std::string text_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

json::object span(std::int64_t value, std::string_view unit) {
  return {{"value", value}, {"unit", unit}};
}

Question& Question::with(std::string_view urn, json::object options) {
  extensions.push_back(json::object{{"urn", urn}, {"options", std::move(options)}});
  return *this;
}

std::string Question::text() const {
  json::object call{{"function", function}, {"arguments", arguments}};
  if (version) call["version"] = *version;
  json::object body{{"protocol", json::object{{"name", "forrst"}, {"version", "0.1.0"}}},
                    {"id", id},
                    {"call", std::move(call)}};
  if (!extensions.empty()) body["extensions"] = extensions;
  if (!context.empty()) body["context"] = context;
  return json::serialize(body);
}

Question charge_user(json::object more) {
  json::object options{{"key", "user:1"}, {"ttl", span(30)}};
  for (auto& each : more) options[each.key()] = each.value();
  return Question{}.locked(std::move(options));
}

const json::object& Told::error(std::size_t at) const {
  const auto* errors = body.if_contains("errors");
  if (errors == nullptr || !errors->is_array() || errors->get_array().size() <= at) {
    return no_object;
  }
  return errors->get_array()[at].as_object();
}

std::size_t Told::errors() const {
  const auto* errors = body.if_contains("errors");
  return errors != nullptr && errors->is_array() ? errors->get_array().size() : 0;
}

std::string Told::code(std::size_t at) const { return text_in(error(at), "code"); }
std::string Told::message(std::size_t at) const { return text_in(error(at), "message"); }
std::string Told::pointer(std::size_t at) const {
  return text_in(object_in(error(at), "source"), "pointer");
}

const json::object* Told::data(std::string_view urn) const {
  const auto* list = body.if_contains("extensions");
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const auto& each : list->get_array()) {
    if (each.at("urn").as_string() == urn) return &each.at("data").as_object();
  }
  return nullptr;
}

std::string Told::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? std::string() : found->second;
}

Told told_by(forrst::Reply reply) {
  Told told{.status = reply.status,
            .body = json::parse(reply.body).as_object(),
            .headers = std::move(reply.headers),
            .raw = reply.body};
  return told;
}

void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

ForrstService::ForrstService() : client(fresh_store()) {
  charge = [](const forrst::Invocation&) -> forrst::Outcome {
    return json::object{{"charge_id", "ch_abc"}, {"status", "succeeded"}};
  };
}

void ForrstService::SetUp() { serve({}); }

void ForrstService::serve(forrst::ServiceOptions options, std::shared_ptr<forrst::Host> host) {
  if (!host) host = std::make_shared<forrst::Host>();
  service = forrst::Service::make(client, std::move(options), std::move(host)).value();
  add_functions();
}

void ForrstService::add(forrst::Function function) {
  const auto added = service->add(std::move(function));
  ASSERT_TRUE(added) << added.error().message;
}

void ForrstService::add_functions() {
  using Type = forrst::Rule::Type;
  add({.name = "payments.charge",
       .arguments = {{.name = "user_id", .type = Type::string, .is_required = true},
                     {.name = "amount", .type = Type::integer, .minimum = 1}},
       .handler = [this](const forrst::Invocation& call) {
         ++charges;
         return charge(call);
       }});
  add({.name = "billing.generateReport", .handler = [](const forrst::Invocation&) {
         return forrst::Outcome(json::object{{"report", "done"}});
       }});
}

Told ForrstService::ask(const Question& question, const forrst::Caller& caller,
                        std::stop_token stop) const {
  return told_by(service->handle(question.text(), caller, std::move(stop)));
}

Told ForrstService::ask_text(std::string_view body) const { return told_by(service->handle(body)); }

Told ForrstService::lock_call(std::string_view name, json::object arguments,
                              const forrst::Caller& caller) const {
  return ask({.function = std::string(lock_function) + std::string(name),
              .version = "1.0.0",
              .arguments = std::move(arguments)},
             caller);
}

bool ForrstService::is_locked(std::string_view full_key) const {
  return !client.inspect(full_key).value().holders.empty();
}

bool ForrstService::has_waiter(std::string_view full_key) const {
  return eventually([&] { return !client.inspect(full_key).value().waiters.empty(); });
}

Lease ForrstService::hold(std::string_view full_key) const {
  return client.mutex(full_key).acquire().value();
}

}  // namespace holdfast::test
