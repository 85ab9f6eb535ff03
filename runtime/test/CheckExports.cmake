# Fails where the shared library exports anything but the C API, or without the version of its symbols.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
if(status OR NOT symbols MATCHES " T fa_forward@@FLASHLOOM_0\n")
  message(FATAL_ERROR "${LIBRARY} does not export fa_forward:\n${symbols}")
endif()
string(REGEX REPLACE "[^\n]* (T fa_[a-z_]+@@|A )FLASHLOOM_0\n" "" others "${symbols}")
if(NOT others STREQUAL "")
  message(FATAL_ERROR "${LIBRARY} exports more than the C API:\n${others}")
endif()
