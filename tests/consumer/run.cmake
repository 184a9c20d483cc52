# Installs BUILD_DIR into a scratch prefix below it, builds this folder against that prefix and runs the program.
set(work "${BUILD_DIR}/consumer")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${work}/prefix")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_PREFIX_PATH=${work}/prefix")
run("${CMAKE_COMMAND}" --build "${work}/build" --config "${CONFIG}")
run("${work}/build/consumer")

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${work}/build" --config "${CONFIG}" --target mismatch
                RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT failed OR NOT text MATCHES "LibraryWasBuiltWithAnotherEigenAlignmentThan<128>")
  message(FATAL_ERROR "a program compiled for another alignment of Eigen must not link, naming why:\n${text}")
endif()
