#include "jacobi/cli/app.hpp"

int main(int argc, char** argv) {
  return selvage::app::run_app(argc, argv, selvage::jacobi::app_info(), selvage::jacobi::run);
}
