// SPDX-License-Identifier: Apache-2.0
//
// docs/limits.md against the constants it talks about.
#include "n8n/limits.hpp"

#include <holdfast/fence_sql.hpp>
#include <holdfast/forrst/service.hpp>
#include <holdfast/locked_options.hpp>
#include <holdfast/n8n.hpp>
#include <holdfast/options.hpp>
#include <holdfast/runs.hpp>

#include "backends/file/environment.hpp"
#include "backends/file/listing.hpp"
#include "backends/file/wake_layout.hpp"
#include "backends/file/worker.hpp"
#include "backends/file/writer_lock.hpp"
#include "backends/quorum/options.hpp"
#include "backends/redis/options.hpp"
#include "cli/completion/complete_names.hpp"
#include "cli/console.hpp"
#include "cli/look/gather.hpp"
#include "client/core.hpp"
#include "docs/repository.hpp"
#include "guard/options.hpp"
#include "model/fence_guard.hpp"
#include "model/rate_limit.hpp"
#include "server/audit/audit_log.hpp"
#include "server/auth/request_rate.hpp"
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server/auth/token_file.hpp"
#include "server/auth/token_line.hpp"
#include "server/endpoints/patterns/order.hpp"
#include "server/events/streams.hpp"
#include "server/events/timelines.hpp"
#include "server/http/target.hpp"
#include "server/locks/order.hpp"
#include "server/metrics/contention.hpp"
#include "server/metrics/rate_board.hpp"
#include "server/metrics/stats_history.hpp"
#include "server/options.hpp"
#include "server/sessions/sessions.hpp"
#include "text/canonical_json.hpp"
#include "text/config.hpp"
#include "text/duration.hpp"
#include "text/error_codes.hpp"
#include "text/json_parse.hpp"
#include "text/password.hpp"
#include "text/url.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>
#include <variant>

namespace holdfast::test {
namespace {

using Limit = std::variant<std::uint64_t, Duration>;

std::map<std::string, Limit> library_limits() {
  return {
      {"max_name_bytes", max_name_bytes},
      {"max_owner_bytes", max_owner_bytes},
      {"max_metadata_bytes", max_metadata_bytes},
      {"min_ttl", min_ttl},
      {"max_ttl", max_ttl},
      {"max_wait", max_wait},
      {"min_guard_keep", model::limits::min_guard_keep},
      {"max_guard_keep", model::limits::max_guard_keep},
      {"max_scope_bytes", max_scope_bytes},
      {"max_rate_limit", std::uint64_t{max_rate_limit}},
      {"min_rate_window", min_rate_window},
      {"max_rate_window", max_rate_window},
      {"max_bucket_units", model::limits::max_bucket_units},
      {"rate_slices", std::uint64_t{model::limits::rate_slices}},
      {"max_rate_hits", model::limits::max_rate_hits},
      {"max_run_key_bytes", max_run_key_bytes},
      {"max_fingerprint_bytes", max_fingerprint_bytes},
      {"max_answer_bytes", max_answer_bytes},
      {"max_answer_header_bytes", max_answer_header_bytes},
      {"max_failure_bytes", max_failure_bytes},
      {"min_guard", min_guard},
      {"max_guard", max_guard},
      {"min_answer_ttl", min_answer_ttl},
      {"max_answer_ttl", max_answer_ttl},
      {"default_guard", default_guard},
      {"default_answer_ttl", default_answer_ttl},
      {"default_keep_failure", default_keep_failure},
      {"max_attempts", std::uint64_t{max_attempts}},
      {"min_attempt_delay", min_attempt_delay},
      {"max_attempt_delay", max_attempt_delay},
      {"max_attempt_factor", static_cast<std::uint64_t>(max_attempt_factor)},
      {"max_canonical_bytes", text::max_canonical_bytes},
      {"max_canonical_depth", text::max_canonical_depth},
      {"max_page", std::uint64_t{max_page}},
      {"max_url_bytes", text::max_url_bytes},
      {"max_password_bytes", text::max_password_bytes},
      {"max_config_bytes", text::max_config_bytes},
      {"max_holders", model::limits::max_holders},
      {"max_waiters", model::limits::max_waiters},
      {"max_store_bytes", backends::file::EnvironmentOptions{}.max_bytes},
      {"max_open_processes", std::uint64_t{backends::file::max_open_processes}},
      {"max_waiting_processes", std::uint64_t{backends::file::max_waiting_processes}},
      {"max_queued_steps", backends::file::max_queued_steps},
      {"max_records_per_page", backends::file::max_records_per_page},
      {"max_replicas", std::uint64_t{backends::redis::max_replicas}},
      {"max_replica_timeout",
       std::chrono::duration_cast<Duration>(backends::redis::max_replica_timeout)},
      {"max_timeout", std::chrono::duration_cast<Duration>(backends::redis::max_timeout)},
      {"max_audit", std::uint64_t{backends::redis::max_audit}},
      {"max_database", std::uint64_t{backends::redis::max_database}},
      {"max_completions", cli::max_completions},
      {"max_listed", cli::max_listed},
      {"default_ttl", default_ttl},
      {"default_guard_keep", model::limits::default_guard_keep},
      {"default_claim", model::limits::default_claim},
      {"queue_ttl", model::limits::queue_ttl},
      {"command_timeout", client::command_timeout},
      {"confirmations_at_once", std::uint64_t{client::confirmations_at_once}},
      {"release_timeout", client::release_timeout},
      {"prompt_timeout", client::prompt_timeout},
      {"completion_patience", Duration(cli::completion_patience)},
      {"note_patience", Duration(cli::note_patience)},
      {"error_patience", Duration(cli::error_patience)},
      {"patience_slice", Duration(backends::file::patience_slice)},
  };
}

void add_quorum_limits(std::map<std::string, Limit>& known) {
  using namespace backends::quorum;
  known.insert({
      {"min_members", std::uint64_t{min_members}},
      {"max_members", std::uint64_t{max_members}},
      {"min_member_timeout", Duration(min_member_timeout)},
      {"max_member_timeout", Duration(max_member_timeout)},
      {"max_retry_delay", Duration(max_retry_delay)},
      {"max_retries", std::uint64_t{max_retries}},
      {"default_grace", Duration(default_grace)},
      {"max_grace", Duration(max_grace)},
      {"max_pending_give_backs", std::uint64_t{max_pending_give_backs}},
      {"max_agreed_fence", std::uint64_t{model::limits::max_agreed_fence}},
  });
}

// Those that can be set have the name of their key, "limits.max_headers".
void add_server_limits(std::map<std::string, Limit>& known) {
  const server::Limits limits;
  known.insert({
      {"limits.max_body_bytes", limits.max_body_bytes},
      {"limits.max_header_bytes", limits.max_header_bytes},
      {"limits.max_headers", limits.max_headers},
      {"limits.max_connections", limits.max_connections},
      {"limits.max_connections_per_address", limits.max_connections_per_address},
      {"limits.max_waiters_per_name", limits.max_waiters_per_name},
      {"limits.max_waiters", limits.max_waiters},
      {"limits.max_pipelined", limits.max_pipelined},
      {"limits.max_output_bytes", limits.max_output_bytes},
      {"limits.max_sessions", limits.max_sessions},
      {"limits.max_session_leases", limits.max_session_leases},
      {"limits.max_event_streams", limits.max_event_streams},
      {"limits.kept_events", limits.kept_events},
      {"limits.max_observed", limits.max_observed},
      {"limits.token_requests_per_s", std::uint64_t{limits.token_requests_per_s}},
      {"limits.header_timeout", limits.header_timeout},
      {"limits.body_timeout", limits.body_timeout},
      {"limits.idle_timeout", limits.idle_timeout},
      {"max_json_depth", text::max_json_depth},
      {"max_request_key_bytes", server::max_request_key_bytes},
      {"max_session_bytes", server::max_session_bytes},
      {"max_segments", server::max_segments},
      {"min_session_ttl", server::min_session_ttl},
      {"max_session_ttl", server::max_session_ttl},
      {"default_session_ttl", server::default_session_ttl},
      {"max_audit_page", server::max_audit_page},
      {"max_contended_names", server::max_contended_names},
      {"max_timeline_events", server::max_timeline_events},
      {"max_all_timeline_events", server::max_all_timeline_events},
      {"max_samples", server::max_samples},
      {"max_shown_rates", server::max_shown_rates},
      {"event_interval", Duration(server::event_interval)},
      {"event_heartbeat", Duration(server::event_heartbeat)},
      {"sample_interval", Duration(server::sample_interval)},
      {"max_operation", server::patterns::max_operation},
      {"max_depth", std::uint64_t{server::patterns::max_depth}},
      {"max_field_bytes", n8n::max_field_bytes},
      {"max_lock_scopes", n8n::max_lock_scopes},
      {"max_locks_searched", n8n::max_locks_searched},
      {"max_token_bytes", server::max_token_bytes},
      {"max_token_file_bytes", server::max_token_file_bytes},
      {"max_tokens", server::max_tokens},
      {"max_token_name_bytes", server::max_token_name_bytes},
      {"max_token_prefixes", server::max_token_prefixes},
      {"max_requests_per_s", std::uint64_t{server::max_requests_per_s}},
      {"max_endpoint_limits", server::max_endpoint_limits},
      {"max_complete_body_bytes", server::max_complete_body_bytes},
      {"edit_patience", Duration(server::edit_patience)},
  });
}

void add_forrst_limits(std::map<std::string, Limit>& known) {
  known.insert({
      {"max_request_bytes", forrst::max_request_bytes},
      {"max_result_bytes", forrst::max_result_bytes},
      {"max_function_timeout", forrst::max_function_timeout},
      {"default_function_timeout", forrst::default_function_timeout},
      {"max_command_output_bytes", server::max_command_output_bytes},
      {"max_command_complaint_bytes", server::max_command_complaint_bytes},
      {"max_configured_functions", server::max_configured_functions},
      {"max_command_words", server::max_command_words},
      {"max_command_threads", server::max_command_threads},
      {"command_grace", server::command_grace},
  });
}

void add_n8n_limits(std::map<std::string, Limit>& known) {
  known.insert({
      {"max_workflow_bytes", n8n::max_workflow_bytes},
      {"max_workflow_nodes", n8n::max_workflow_nodes},
      {"max_workflow_depth", n8n::max_workflow_depth},
      {"max_env_bytes", n8n::max_env_bytes},
      {"max_doctor_files", n8n::max_doctor_files},
      {"max_fixed_scope_bytes", n8n::max_fixed_scope_bytes},
      {"max_expression_bytes", n8n::max_expression_bytes},
      {"max_workflow_seconds", std::uint64_t{n8n::max_workflow_seconds}},
      {"max_workflow_limit", std::uint64_t{n8n::max_workflow_limit}},
  });
}

void add_guard_limits(std::map<std::string, Limit>& known) {
  known.insert({
      {"max_guarded_fence", max_guarded_fence},
      {"max_sql_name_bytes", max_sql_name_bytes},
      {"max_sql_columns", max_sql_columns},
      {"default_max_body_bytes", guard::default_max_body_bytes},
      {"largest_max_body_bytes", guard::largest_max_body_bytes},
      {"max_answer_head_bytes", guard::max_answer_head_bytes},
      {"max_guard_connections", guard::max_guard_connections},
      {"max_idle_upstreams", guard::max_idle_upstreams},
      {"max_prefix_segments", guard::max_prefix_segments},
      {"min_upstream_timeout", guard::min_upstream_timeout},
      {"max_upstream_timeout", guard::max_upstream_timeout},
      {"default_upstream_timeout", guard::default_upstream_timeout},
      {"default_check_timeout", guard::default_check_timeout},
      {"connect_timeout", guard::connect_timeout},
      {"upstream_idle_timeout", guard::upstream_idle_timeout},
  });
}

const std::map<std::string, Limit>& limits() {
  static const auto known = [] {
    auto all = library_limits();
    add_quorum_limits(all);
    add_server_limits(all);
    add_forrst_limits(all);
    add_n8n_limits(all);
    add_guard_limits(all);
    return all;
  }();
  return known;
}

struct Row {
  std::string name;
  std::string value;
  std::string where;
  std::string error;
};

std::string trimmed(std::string text) {
  const auto bare = [](char c) { return c != ' ' && c != '`'; };
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), bare));
  text.erase(std::find_if(text.rbegin(), text.rend(), bare).base(), text.end());
  return text;
}

// The rows of all tables whose first cell is a name in backquotes.
std::vector<Row> documented() {
  std::vector<Row> rows;
  std::istringstream page(read_text(repository() / "docs/limits.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    row.resize(5);
    rows.push_back({row[0], row[1], row[2], row[4]});
  }
  return rows;
}

Limit parse(const std::string& value) {
  if (const auto duration = text::parse_duration(value)) return *duration;
  return std::stoull(value);
}

TEST(Limits, the_page_has_every_limit_with_its_value) {
  std::set<std::string> seen;
  for (const Row& row : documented()) {
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(limits().contains(row.name)) << "docs/limits.md names a limit unknown to this test";
    EXPECT_TRUE(parse(row.value) == limits().at(row.name)) << "docs/limits.md says " << row.value;
    EXPECT_TRUE(seen.insert(row.name).second) << "twice in docs/limits.md";
  }
  for (const auto& [name, value] : limits()) {
    EXPECT_TRUE(seen.contains(name)) << name << " is missing in docs/limits.md";
  }
}

TEST(Limits, the_page_has_the_bounds_of_the_drift_in_a_sentence) {
  const auto sentence = fmt::format("The option `drift` is from {} to {} of the ttl",
                                    backends::quorum::min_drift, backends::quorum::max_drift);
  EXPECT_NE(read_text(repository() / "docs/limits.md").find(sentence), std::string::npos);
}

TEST(Limits, the_page_says_where_each_limit_is) {
  for (const Row& row : documented()) {
    SCOPED_TRACE(row.name);
    const auto bare = row.name.substr(row.name.rfind('.') + 1);
    EXPECT_NE(read_text(repository() / row.where).find(bare), std::string::npos)
        << row.where << " does not mention it";
  }
}

TEST(Limits, the_page_names_errors_that_exist) {
  for (const Row& row : documented()) {
    // What a request may get is in a table of its own, by its status.
    if (row.error.empty() || std::isdigit(static_cast<unsigned char>(row.error[0])) != 0) continue;
    EXPECT_TRUE(text::parse_errc(row.error)) << row.name << ": " << row.error;
  }
}

}  // namespace
}  // namespace holdfast::test
