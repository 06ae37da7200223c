// SPDX-License-Identifier: Apache-2.0
#include "client/span.hpp"

#include "runtime/log.hpp"

#include <atomic>

namespace holdfast::client {

namespace {

// A lock works whether or not somebody watches. Once: a tracer that is broken is so every time.
void drop_exception() noexcept {
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  runtime::log_warning("a tracer threw an exception: its traces are not complete");
}

}  // namespace

Span::Span(std::shared_ptr<Tracer> tracer, std::string_view operation, TraceAttributes attributes) {
  if (!tracer) return;
  try {
    id_ = tracer->start(operation, attributes);
    tracer_ = std::move(tracer);
  } catch (...) {
    drop_exception();  // what never began does not end either
  }
}

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  end({});
  tracer_ = std::move(other.tracer_);
  id_ = other.id_;
  return *this;
}

void Span::tell(TraceAttributes attributes) noexcept {
  const auto tracer = std::exchange(tracer_, nullptr);
  try {
    tracer->end(id_, attributes);
  } catch (...) {
    drop_exception();
  }
}

}  // namespace holdfast::client
