#include "series.hpp"

#include "jacobi/cli/app.hpp"

int main(int argc, char** argv) {
  return selvage::app::testing_support::run_series(argc, argv, selvage::jacobi::app_info(),
                                                   selvage::jacobi::run);
}
