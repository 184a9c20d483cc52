# A comment that stands before "namespace kansetsu" is about the header: Doxygen shall take it so. The rest goes through.
/^\/\/\// { held = held $0 "\n"; next }
/^namespace kansetsu/ && held != "" { print "/// \\file" }
{ printf "%s", held; held = ""; print }
END { printf "%s", held }
