// SPDX-License-Identifier: Apache-2.0
//
// A folder. What can be broken are the processes that share it, at any moment: also while one of
// them writes, or keeps the others from it.
#include "chaos/place.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::faults {

namespace {

class FilePlace final : public Place {
 public:
  void start(SharedLog&, Dice&) override {}
  std::string url(bool) override { return "file:" + folder_.path().string(); }
  std::string_view trouble(SharedLog&, Dice&) override { return {}; }
  LoadPlan plan() const override { return {.locks = mixed_locks()}; }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

std::unique_ptr<Place> make_file_place() { return std::make_unique<FilePlace>(); }

}  // namespace holdfast::faults
