// Package jinja runs chat templates: Jinja2 as transformers'
// apply_chat_template runs it, with the same text byte for byte.
//
// That is Jinja's immutable sandbox with trim_blocks and lstrip_blocks, the
// statements break, continue and {% generation %}, the functions
// raise_exception and strftime_now (whose clock the caller gives), and
// tojson as plain json.dumps.
//
// Statements: if, for (with if, else and recursive), set (of names, tuples,
// namespaces and blocks), macro, call, filter, with, print, raw, break,
// continue, generation. block, extends, include, import, from and autoescape
// are refused: a chat template stands alone.
//
// Filters: abs attr batch capitalize center count d default dictsort first
// float format groupby indent int items join last length list lower map max
// min reject rejectattr replace reverse round safe select selectattr slice sort
// string sum title tojson trim truncate unique upper. Those that make HTML,
// look a value up at random or lay text out (e escape filesizeformat
// forceescape pprint random striptags urlencode urlize wordcount
// wordwrap xmlattr) are refused by name.
//
// Tests: all of Jinja's but escaped. Functions: cycler dict joiner namespace
// raise_exception range strftime_now. Methods of strings, lists, tuples and
// dictionaries: those that change nothing; the rest is undefined as in the
// sandbox, or refused (encode, translate, casefold, expandtabs, format_map,
// isnumeric).
//
// What differs, and is always an error, never another text: integers beyond
// 64 bits, complex numbers, printing objects that Python shows with their
// address, characters that UTF-8 does not have, a {% generation %} block
// whose place in the text is not known.
//
// Templates are not trusted: a render has a bound of steps, of bytes made and
// of depth.
package jinja
