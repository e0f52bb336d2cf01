# The program runs from two layouts: build/<preset>/weir with lib/ beside it, and bin/weir with lib/
# next to bin/ in a package. RPATH rather than RUNPATH, because only that is used for the libraries
# of bundled libraries too.
if(TARGET weir)
  set_target_properties(weir PROPERTIES
    BUILD_RPATH "\$ORIGIN/lib;\$ORIGIN/../lib" INSTALL_RPATH "\$ORIGIN/lib;\$ORIGIN/../lib")
  target_link_options(weir PRIVATE -Wl,--disable-new-dtags)
endif()
