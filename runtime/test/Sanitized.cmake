# The runtime once more under sanitizers, with what they are for: many threads, and damaged libraries. Not where the whole
# build is under one, and not where the compiler has none.
include(CheckCXXSourceCompiles)

# add_sanitized(NAME SANITIZERS FILE...): a program of the files, the runtime and the fake driver.
function(add_sanitized name sanitizers)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=${sanitizers})
  check_cxx_source_compiles("int main() { return 0; }" FA_HAS_${name})
  if(NOT FA_HAS_${name} OR CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    return()
  endif()
  get_target_property(sources fa_runtime_objects SOURCES)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  add_executable(${name} ${ARGN} FakeDriver.cpp TestLibrary.cpp ${sources})
  target_include_directories(${name} PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  # What is checked at -O1 is what is there; deeper optimisation folds some of it.
  target_compile_options(${name} PRIVATE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  target_link_options(${name} PRIVATE -fsanitize=${sanitizers})
  target_link_libraries(${name} PRIVATE
    fa_runtime_options nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

add_sanitized(fa-runtime-threads thread ThreadsTest.cpp)
if(TARGET fa-runtime-threads)
  target_link_libraries(fa-runtime-threads PRIVATE GTest::gtest GTest::gtest_main)
  add_test(NAME fa-runtime-threads COMMAND fa-runtime-threads)
endif()
add_sanitized(fa-runtime-fuzz address,undefined
  fuzz/Damage.cpp fuzz/Requests.cpp fuzz/fa-runtime-fuzz.cpp)
