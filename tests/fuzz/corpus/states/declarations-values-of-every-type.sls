x:
  test.nop:
    - i: 3
    - f: 1.5
    - t: yes
    - n: null
    - o: 0644
    - d: 2020-01-02
    - l: [1, [2, a]]
    - m: {1: a, b: {c: d}}
    - s: |
        two
        lines
