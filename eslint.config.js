import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: [".venv/", ".venv-docs/", "build/", "node_modules/", "site/"] },
  js.configs.recommended,
  {
    rules: {
      "max-lines-per-function": ["error", 60],
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["pages/**/*.js", "rff_engine/**/*.js", "deploy/**/*.js", "docs/**/*.js"],
    languageOptions: { globals: globals.browser },
  },
  { files: ["*.js", "tests/**/*.js"], languageOptions: { globals: globals.node } },
];
