#include "probe_app.hpp"

int main(int argc, char** argv) {
  using namespace selvage::app;
  return run_app(argc, argv, testing_support::probe_info(), testing_support::run_probe);
}
