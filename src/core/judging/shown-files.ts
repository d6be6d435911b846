/** Documentation files: they do not affect what runs. */
export const isProse = (path: string): boolean =>
  /\.(?:md|mdx|markdown|rst|adoc|asciidoc|org|pod|rtf)$/i.test(path) ||
  // Package lists and build files have the same extensions.
  /(?:^|\/)(?!requirements|constraints|cmakelists)[^/]*\.txt$/i.test(path) ||
  /(?:^|\/)(?:readme|changelog|changes|history|news|authors|contributors|copying|licen[cs]e|notice|todo)(?:\.\w+)?$/i.test(
    path,
  );

/** Generated or vendored files: no one decides anything based on their lines. */
export const isGenerated = (path: string): boolean =>
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|cargo\.lock|poetry\.lock|uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$/i.test(
    path,
  ) || /\.(?:min\.\w+|map|snap|lock)$/i.test(path);
