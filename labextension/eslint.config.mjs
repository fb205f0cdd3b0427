import tseslint from 'typescript-eslint';

export default tseslint.config(...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked, {
  languageOptions: {
    parserOptions: {
      project: ['./tsconfig.json', './test/tsconfig.json'],
      tsconfigRootDir: import.meta.dirname
    }
  },
  rules: {
    '@typescript-eslint/consistent-type-imports': 'error',
    '@typescript-eslint/explicit-function-return-type': 'error',
    // Lumino's signals take a method and its object apart.
    '@typescript-eslint/unbound-method': 'off'
  }
});
