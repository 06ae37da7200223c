// SPDX-License-Identifier: Apache-2.0
//
// The server around the Forrst service: its waiting room, its journal and its numbers.
#pragma once

#include "forrst/host.hpp"
#include "server/store_probe.hpp"

#include <optional>

namespace holdfast::server {

class Services;
struct Happening;

class ServerHost final : public forrst::Host {
 public:
  // The services outlive it, and know the core of Forrst's locks.
  explicit ServerHost(Services& services);

  Task<client::TakeResult> take(std::shared_ptr<client::Core> core, const forrst::Caller& caller,
                                client::Wanted wanted, std::stop_token stop) override;
  void ended(const forrst::Caller& caller, const client::Wanted& wanted, Fence fence,
             forrst::LockEnd how) override;
  void renewed(const forrst::Caller& caller, std::string_view name, Fence fence) override;
  void answered(std::string_view function, std::string_view code) override;
  void began(const forrst::Caller& caller, const LockName& name,
             const model::RunOutcome& outcome) override;
  Task<std::vector<forrst::Component>> components(std::shared_ptr<client::Core> core) override;
  std::stop_token draining() override;
  std::stop_token ending() override;
  std::shared_ptr<void> under_way() override;
  void complain(std::string_view what, std::string_view why) override;

 private:
  void write_down(const forrst::Caller& caller, const Happening& happening);

  Services& services_;
  std::optional<StoreProbe> own_probe_;  // of a store that is not the server's
};

}  // namespace holdfast::server
