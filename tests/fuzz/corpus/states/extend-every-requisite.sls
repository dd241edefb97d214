x: test.nop
web:
  test.nop:
    - require:
      - test: y
    - watch:
      - test: y
    - onchanges:
      - test: y
    - onfail:
      - test: y
    - prereq:
      - test: y
    - listen:
      - test: y
    - require_any:
      - test: y
    - watch_any:
      - test: y
    - onchanges_any:
      - test: y
    - onfail_any:
      - test: y
    - onfail_all:
      - test: y
    - onfail_stop:
      - test: y
y: test.nop
