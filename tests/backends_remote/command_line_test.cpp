// SPDX-License-Identifier: Apache-2.0
//
// The program, with a server behind its store.
#include "remote_fixture.hpp"
#include "support/program.hpp"

namespace holdfast::test {
namespace {

class RemoteCommandLine : public RemoteTest {
 protected:
  Finished holdfast(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), HOLDFAST_BINARY);
    ProgramOptions options;
    options.environment = {"HOME=" + folder.path().string(), "HOLDFAST_STORE=" + url_of(*server),
                           "HOLDFAST_SYSTEM_CONFIG=" + (folder.path() / "none.yml").string()};
    return run(std::move(arguments), std::move(options));
  }
  ServerPtr server = serve();
};

TEST_F(RemoteCommandLine, run_holds_the_lock_while_its_program_runs) {
  const auto inside = holdfast({"run", "nightly", "--", HOLDFAST_BINARY, "list", "--json"});
  EXPECT_EQ(inside.code, 0) << inside.err;
  EXPECT_NE(inside.out.find("nightly"), std::string::npos) << inside.out;
  const auto after = holdfast({"list", "--json"});
  EXPECT_EQ(after.out.find("nightly"), std::string::npos) << after.out;
}

TEST_F(RemoteCommandLine, acquire_list_and_release_meet_in_one_store) {
  const auto taken = holdfast({"acquire", "orders:42", "--ttl", "30s", "--owner", "anna"});
  ASSERT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(holdfast({"acquire", "orders:42"}).code, 75);
  EXPECT_NE(holdfast({"list"}).out.find("orders:42"), std::string::npos);
  EXPECT_EQ(holdfast({"release", "orders:42", "--owner", "anna"}).code, 0);
  EXPECT_EQ(holdfast({"acquire", "orders:42"}).code, 0);
}

TEST_F(RemoteCommandLine, doctor_finds_the_server) {
  const auto found = holdfast({"doctor"});
  EXPECT_NE((found.out + found.err).find("http://127.0.0.1"), std::string::npos)
      << found.out << found.err;
}

}  // namespace
}  // namespace holdfast::test
