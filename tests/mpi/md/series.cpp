#include "series.hpp"

#include "md/cli/app.hpp"

int main(int argc, char** argv) {
  return selvage::app::testing_support::run_series(argc, argv, selvage::md::app_info(), selvage::md::run);
}
