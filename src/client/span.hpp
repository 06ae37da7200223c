// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/tracing.hpp>

#include <initializer_list>
#include <memory>
#include <utility>

namespace holdfast::client {

// One operation that a tracer is told of; an empty one tells nobody. Ends once: by `end`, or
// without a word when it goes away.
class Span {
 public:
  Span() = default;
  Span(std::shared_ptr<Tracer> tracer, std::string_view operation, TraceAttributes attributes);
  Span(Span&& other) noexcept : tracer_(std::move(other.tracer_)), id_(other.id_) {}
  Span& operator=(Span&& other) noexcept;
  ~Span() { end({}); }

  explicit operator bool() const noexcept { return tracer_ != nullptr; }

  void end(std::initializer_list<TraceAttribute> attributes) noexcept {
    if (tracer_) tell(TraceAttributes(attributes.begin(), attributes.size()));
  }

 private:
  void tell(TraceAttributes attributes) noexcept;

  std::shared_ptr<Tracer> tracer_;
  std::uint64_t id_ = 0;
};

// A fence as an attribute: none is larger than 2^63.
inline std::int64_t traced(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace holdfast::client
