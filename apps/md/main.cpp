#include "md/cli/app.hpp"

int main(int argc, char** argv) {
  return selvage::app::run_app(argc, argv, selvage::md::app_info(), selvage::md::run);
}
