# The hardware database and the model catalogue lie at ../share/archsim beside the tools' bin/, in the build tree
# (as links to the sources) as in an installation, so that both find them in the same way.

set(ARCHSIM_DATA_FOLDERS hardware_db models)
foreach(folder IN LISTS ARCHSIM_DATA_FOLDERS)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/archsim)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/share/archsim/${folder} SYMBOLIC)
endforeach()

# Where a program that is not installed beside the data looks last.
if(PROJECT_IS_TOP_LEVEL)
    set(ARCHSIM_FALLBACK_DATA_DIR ${CMAKE_INSTALL_FULL_DATADIR}/archsim)
else()
    set(ARCHSIM_FALLBACK_DATA_DIR ${PROJECT_SOURCE_DIR})
endif()
