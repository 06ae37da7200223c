// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/n8n/answers.hpp"

namespace holdfast::server::n8n {

namespace {

int status_of(Errc code, int otherwise) {
  switch (code) {
    case Errc::busy: return 423;
    case Errc::timed_out: return 408;
    case Errc::not_owner: return 409;
    default: return otherwise;
  }
}

}  // namespace

Response refused(const Error& why) {
  auto problem = problem_of(why);
  problem.status = status_of(why.code, problem.status);
  return answer(problem, {{"message", why.message}});
}

Response forbidden() {
  return answer(Problem{403, "forbidden", "your token does not cover this name"},
                {{"message", "your token does not cover this name"}});
}

void write_down(Services& services, const Who& who, const Happening& happening) {
  if (services.n8n_core == services.shared_core()) {
    services.journal.record(who, happening);
  } else {
    services.journal.note(who, text::to_word(happening.type), happening.name, happening.reason);
  }
}

}  // namespace holdfast::server::n8n
