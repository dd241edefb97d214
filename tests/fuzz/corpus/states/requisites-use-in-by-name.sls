a:
  test.nop:
    - k: 1
    - use_in:
      - test: bee
b:
  test.nop:
    - name: bee
    - j: 2
