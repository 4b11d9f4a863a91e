#include "series.hpp"

#include "sgd/cli/app.hpp"

int main(int argc, char** argv) {
  return selvage::app::testing_support::run_series(argc, argv, selvage::sgd::app_info(), selvage::sgd::run);
}
