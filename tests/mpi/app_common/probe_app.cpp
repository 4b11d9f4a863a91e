#include "probe_app.hpp"

#include "common/report.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace selvage::app::testing_support {
namespace {

bool is(const std::string& how, const std::string& name, bool here) {
  return how == name && here;
}

void set_up(Session& session, const std::string& how) {
  const bool second = session.rank() == 1 % session.ranks();
  session.setup([&] {
    session.input().reject_unknown();
    if (is(how, "setup-one", second)) throw Error(ErrorKind::input, "only rank 1 minds");
    if (is(how, "setup-all", true)) throw Error(ErrorKind::input, "all mind");
    if (is(how, "setup-io", second)) throw Error(ErrorKind::io, "a disk is full");
  });
  session.setup([&] {
    if (is(how, "setup-leaving-others-waiting", second)) throw Error(ErrorKind::input, "only rank 1 minds");
    if (how == "setup-leaving-others-waiting") MPI_Barrier(session.comm());
  });
}

void work(Session& session, const std::string& how) {
  const bool second = session.rank() == 1 % session.ranks();
  if (is(how, "one", second)) throw Error(ErrorKind::io, "a disk is full");
  if (is(how, "stopped", second)) std::raise(SIGSTOP);
  if (how == "stopped") throw Error(ErrorKind::timeout, fmt::format("rank {} waits", session.rank()));
  if (is(how, "all", true)) throw Error(ErrorKind::timeout, "everybody is late");
  if (is(how, "verification", second)) throw Error(ErrorKind::verification, "rank 1 differs");
  if (is(how, "standard", second)) throw std::runtime_error("a standard exception");
  if (is(how, "unknown", second)) throw 42;
  if (is(how, "exit-early", second)) std::_Exit(0);
  MPI_Barrier(session.comm());
}

}  // namespace

const AppInfo& probe_info() {
  static const AppInfo info{
      .name = "probe",
      .summary = "fails as asked",
      .version = "0.1.0",
      .flags = {{.name = "--fail", .key = "probe.fail", .value_name = "HOW", .help = "how to fail"}}};
  return info;
}

void run_probe(Session& session) {
  const std::string how = session.input().get_text("probe.fail", "not");
  Report report(session);
  set_up(session, how);
  work(session, how);
  report.decide("a decision");
  report.verify("probe", how != "verify", "as asked");
  report.figure_of_merit(2, "probes/s");
  report.finish("");
  if (is(how, "stopped-at-the-end", session.rank() == 1 % session.ranks())) std::raise(SIGSTOP);
}

}  // namespace selvage::app::testing_support
