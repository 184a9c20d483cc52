import { defineConfig, type Plugin } from "vite";

/** Puts script and style into the page: one file to ship inside the binary, to mail, and to open without a server. */
function onePage(): Plugin {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (!page || page.type !== "asset") throw new Error("no index.html");
      let html = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") {
          const code = file.code.replace(/<\/script/g, "<\\/script");
          html = html.replace(/<script type="module"[^>]*src="[^"]*"[^>]*><\/script>/, "");
          html = html.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
        } else if (name.endsWith(".css")) {
          html = html.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${String(file.source)}</style>`);
        } else continue;
        delete bundle[name];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [onePage()],
  build: {
    target: "es2021",
    modulePreload: false,
    assetsInlineLimit: 1 << 20,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  test: { include: ["test/**/*.test.ts"], testTimeout: 30000 },
} as Parameters<typeof defineConfig>[0]);
