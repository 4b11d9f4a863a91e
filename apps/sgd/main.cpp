#include "sgd/cli/app.hpp"

int main(int argc, char** argv) {
  return selvage::app::run_app(argc, argv, selvage::sgd::app_info(), selvage::sgd::run);
}
