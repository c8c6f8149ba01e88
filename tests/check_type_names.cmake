# Checks that no namespace has two types of one name: the compiler sees one header at a time, and a program with both
# takes either for the other. Run with cmake -D SOURCE_DIR=... -P check_type_names.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR}
    ${SOURCE_DIR}/include/*.hpp ${SOURCE_DIR}/src/*.hpp ${SOURCE_DIR}/src/*.cpp ${SOURCE_DIR}/fit/*.hpp ${SOURCE_DIR}/fit/*.cpp ${SOURCE_DIR}/cli/*.hpp ${SOURCE_DIR}/cli/*.cpp)
set(types 0)
foreach(file IN LISTS files)
    file(STRINGS ${SOURCE_DIR}/${file} lines
        REGEX "^(namespace .*{|} // namespace.*|(struct|class|enum class) .*[{:].*|template .*)$")
    set(namespaces "")
    foreach(line IN LISTS lines)
        if(line MATCHES "^namespace ([A-Za-z_:]*) ?{")
            set(name "${CMAKE_MATCH_1}")
            list(APPEND namespaces "${name}.") # an unnamed one is just "."
        elseif(line MATCHES "^} // namespace")
            list(POP_BACK namespaces)
        elseif(NOT "." IN_LIST namespaces
               AND line MATCHES "^(struct|class|enum class) (ARCHSIM_API )?([A-Za-z_0-9]+) *(final )?(: [^;]*)?{")
            list(JOIN namespaces "" scope)
            set(type "${scope}${CMAKE_MATCH_3}")
            math(EXPR types "${types} + 1")
            if(DEFINED "found_${type}")
                message(SEND_ERROR "${file}: ${type} is defined in ${found_${type}} too; give one of them another name")
            endif()
            set("found_${type}" ${file})
        endif()
    endforeach()
endforeach()
if(types LESS 100)
    message(FATAL_ERROR "only ${types} types were found under ${SOURCE_DIR}: the patterns of this script do not fit")
endif()
message(STATUS "${types} types, each with a name of its own")
