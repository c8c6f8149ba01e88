// Functions of newer C libraries that GCC's own libraries, linked in, call: with them a program for other
// machines needs the C library of 2021 (2.34) in place of that of 2022. Only what is linked for other
// machines has this file.

#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" {

// For std::random_device, of glibc 2.36.
[[gnu::visibility("hidden")]] std::uint32_t arc4random() {
    std::uint32_t number = 0;
    if (getentropy(&number, sizeof number) != 0)
        std::abort(); // as there: a number that is not random is none
    return number;
}

// For exceptions, of glibc 2.35: the loaded object that holds an address, and its table of what to unwind.
[[gnu::visibility("hidden")]] int _dl_find_object(void* address,
                                                  dl_find_object* found) { // NOLINT: its name there
    struct Search {
        std::uintptr_t address;
        dl_find_object* found;
    } search{reinterpret_cast<std::uintptr_t>(address), found};
    const auto look = [](dl_phdr_info* object, std::size_t, void* wanted) {
        const auto& [at, result] = *static_cast<Search*>(wanted);
        const auto place = [&](const ElfW(Phdr) & part) { return object->dlpi_addr + part.p_vaddr; };
        bool inside = false;
        std::uintptr_t first = UINTPTR_MAX;
        std::uintptr_t end = 0;
        std::uintptr_t table = 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const ElfW(Phdr)& part = object->dlpi_phdr[i];
            const std::uintptr_t begin = place(part);
            if (part.p_type == PT_GNU_EH_FRAME)
                table = begin;
            if (part.p_type != PT_LOAD)
                continue;
            inside = inside || (at >= begin && at < begin + part.p_memsz);
            first = begin < first ? begin : first;
            end = begin + part.p_memsz > end ? begin + part.p_memsz : end;
        }
        if (!inside || table == 0)
            return 0;
        result->dlfo_flags = 0;
        result->dlfo_map_start = reinterpret_cast<void*>(first);
        result->dlfo_map_end = reinterpret_cast<void*>(end);
        result->dlfo_link_map = nullptr;
        result->dlfo_eh_frame = reinterpret_cast<void*>(table);
        return 1;
    };
    return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

} // extern "C"
