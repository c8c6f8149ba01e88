# zlib's decompressor out of Debian's archive into ours, under the names that zlib.h gives it with Z_PREFIX: a program that
# links the library needs no other, and may have a zlib of its own.
find_library(ARCHSIM_ZLIB libz.a REQUIRED)
find_path(ARCHSIM_ZLIB_HEADERS zlib.h REQUIRED)
mark_as_advanced(ARCHSIM_ZLIB ARCHSIM_ZLIB_HEADERS)

set(archsim_inflate_object ${PROJECT_BINARY_DIR}/zlib/archsim_inflate.o)
set(members inflate.o inftrees.o inffast.o crc32.o adler32.o zutil.o)
set(rename "")
foreach(name IN ITEMS inflate inflateInit2_ inflateEnd)
    # LLVM's objcopy keeps by the names before, GNU's by those after.
    list(APPEND rename --redefine-sym ${name}=z_${name} --keep-global-symbol=${name} --keep-global-symbol=z_${name})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/zlib)
# While configuring: a command of the build would have everything that links the library wait for the whole of it before
# the first file is compiled.
foreach(command IN ITEMS
    "${CMAKE_AR};x;${ARCHSIM_ZLIB};${members}"
    "${CMAKE_LINKER};-r;-o;joined.o;${members}"
    "${CMAKE_OBJCOPY};${rename};joined.o;renamed.o")
    execute_process(COMMAND ${command} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/zlib COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Configuring again links nothing again.
file(COPY_FILE ${PROJECT_BINARY_DIR}/zlib/renamed.o ${archsim_inflate_object} ONLY_IF_DIFFERENT)
set_source_files_properties(${archsim_inflate_object} PROPERTIES EXTERNAL_OBJECT ON)
