// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/files.hpp"
#include "cli/n8n_program.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using cli::FileBatch;
using IfThere = FileBatch::IfThere;

class N8nFiles : public N8n {};

TEST_F(N8nFiles, appear_together) {
  FileBatch batch;
  ASSERT_TRUE(batch.add(path("env.yml"), "new", IfThere::replace));
  ASSERT_TRUE(batch.add(path("fresh"), "made", IfThere::refuse));
  EXPECT_NE(read("env.yml"), "new") << "not yet";
  EXPECT_FALSE(fs::exists(path("fresh")));
  ASSERT_TRUE(batch.commit());
  EXPECT_EQ(read("env.yml"), "new");
  EXPECT_EQ(read("fresh"), "made");
}

TEST_F(N8nFiles, are_all_as_before_if_one_cannot_be_put_in_place) {
  const auto before = read("env.yml");
  {
    FileBatch batch;
    ASSERT_TRUE(batch.add(path("env.yml"), "new", IfThere::replace));
    ASSERT_TRUE(batch.add(path("first"), "made", IfThere::refuse));
    ASSERT_TRUE(batch.add(path("second"), "made", IfThere::refuse));
    // Somebody else comes in between.
    write("second", "theirs");
    const auto failed = batch.commit();
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("second exists already"), std::string::npos);
  }
  EXPECT_EQ(read("env.yml"), before);
  EXPECT_EQ(read("second"), "theirs");
  EXPECT_FALSE(fs::exists(path("first")));
  EXPECT_EQ(everything().size(), 3U) << "nothing is left beside them";
}

TEST_F(N8nFiles, that_are_never_put_in_place_leave_nothing) {
  {
    FileBatch batch;
    ASSERT_TRUE(batch.add(path("fresh"), "made", IfThere::refuse));
    EXPECT_FALSE(batch.add(path("no/such/folder"), "made", IfThere::refuse));
    EXPECT_FALSE(batch.add(path("env.yml"), "made", IfThere::refuse));
  }
  EXPECT_EQ(everything().size(), 2U);
}

TEST_F(N8nFiles, replaced_through_a_link_leave_the_link) {
  fs::create_symlink(path("env.yml"), path("link"));
  FileBatch batch;
  ASSERT_TRUE(batch.add(path("link"), "new", IfThere::replace));
  ASSERT_TRUE(batch.commit());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("env.yml"), "new");
}

}  // namespace
}  // namespace holdfast::test
