#include "probe_app.hpp"
#include "series.hpp"

int main(int argc, char** argv) {
  using namespace selvage::app::testing_support;
  return run_series(argc, argv, probe_info(), run_probe);
}
