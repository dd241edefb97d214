a:
  test.nop:
    - require_in: [{test: b}]
    - watch_in: [{test: b}]
b: test.nop
