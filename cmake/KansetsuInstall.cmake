# Install rules, and the package files that find_package(kansetsu) reads.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kansetsu")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(TARGETS kansetsu_all ${module_targets} EXPORT kansetsuTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT kansetsuTargets NAMESPACE kansetsu:: DESTINATION "${package_dir}")
if(TARGET kansetsu_cli)
  install(TARGETS kansetsu_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/kansetsuConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/kansetsuConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kansetsuConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kansetsuConfig.cmake" "${PROJECT_BINARY_DIR}/kansetsuConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/KansetsuCodecs.cmake" DESTINATION "${package_dir}")
