#include "weir/app/app.h"

int main(int argc, char** argv) { return weir::app::Main(argc, argv); }
