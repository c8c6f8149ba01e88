# Run by cpack between the staged installation and its packing: what the programs and libraries of the package are linked
# with becomes its dependencies. CPack's own way asks the program `file` what is a program, and makes a package without
# dependencies where dpkg-dev is missing.
cmake_minimum_required(VERSION 3.25)

if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
find_program(ARCHSIM_SHLIBDEPS dpkg-shlibdeps)
if(NOT ARCHSIM_SHLIBDEPS OR NOT EXISTS "${ARCHSIM_SHLIBDEPS}")
    message(FATAL_ERROR "dpkg-shlibdeps was not found, and without it the package would name no dependencies: "
        "apt-get install dpkg-dev")
endif()

# Programs, shared libraries and Python modules begin with \x7fELF.
file(GLOB_RECURSE files LIST_DIRECTORIES false ${CPACK_TEMPORARY_DIRECTORY}/*)
set(binaries "")
foreach(file IN LISTS files)
    if(NOT IS_SYMLINK ${file})
        file(READ ${file} magic LIMIT 4 HEX)
        if(magic STREQUAL "7f454c46")
            list(APPEND binaries ${file})
        endif()
    endif()
endforeach()

# It reads the name of a source package from debian/control in the working folder.
set(folder ${CPACK_TEMPORARY_DIRECTORY}-depends)
file(REMOVE_RECURSE ${folder})
file(WRITE ${folder}/debian/control "Source: ${CPACK_PACKAGE_NAME}\n\nPackage: ${CPACK_PACKAGE_NAME}\nArchitecture: any\n")
# Our own library is where it is staged.
file(GLOB_RECURSE own ${CPACK_TEMPORARY_DIRECTORY}/*.so.*)
list(TRANSFORM own REPLACE "/[^/]+$" "")
list(REMOVE_DUPLICATES own)
list(TRANSFORM own PREPEND "-l")
# Those of another machine lie in its root, with the versions that their symbols came with (tests/package/make_root.sh).
if(CPACK_ARCHSIM_ROOT)
    list(APPEND own -S${CPACK_ARCHSIM_ROOT})
    list(PREPEND ARCHSIM_SHLIBDEPS dpkg-architecture -a${CPACK_DEBIAN_PACKAGE_ARCHITECTURE} -c)
endif()
execute_process(COMMAND ${ARCHSIM_SHLIBDEPS} -O --ignore-missing-info ${own} ${binaries} WORKING_DIRECTORY ${folder}
    OUTPUT_VARIABLE said ERROR_VARIABLE warned RESULT_VARIABLE status)
file(REMOVE_RECURSE ${folder})
if(NOT status EQUAL 0 OR NOT said MATCHES "shlibs:Depends=([^\n]+)")
    message(FATAL_ERROR "dpkg-shlibdeps found no dependencies:\n${said}${warned}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
