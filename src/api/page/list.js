// list.js - a table of any length: only the rows in sight have elements. Arrow keys, Page Up and Down, Home and End move
// its cursor, Enter opens a row.
import { h } from './ui.js';

export class List {
    // columns: [{name, title, sort?: (a, b) => number}]; cells(row): a list of nodes or texts, one a column; open(row).
    constructor({ label, columns, cells, open, classOf, empty, key, sorted }) {
        Object.assign(this, { columns, cells, open, classOf, emptyNode: empty, key: key ?? ((row) => row) });
        this.all = this.rows = [];
        this.nodes = new Map();
        this.at = 0;
        this.sort = sorted ?? null;
        this.head = h('div', { class: 'row head', role: 'row' }, columns.map((column) => this.heading(column)));
        this.inner = h('div', { class: 'rows', role: 'rowgroup', onclick: (event) => this.pick(event.target.closest('.row')) });
        this.scroll = h('div', { class: 'scroll', role: 'grid', tabindex: '0', 'aria-label': label, onscroll: () => this.later(), onkeydown: (e) => this.keys(e) },
            h('div', { class: 'stick', role: 'rowgroup' }, this.head), this.inner);
        this.box = h('div', { class: 'list' }, this.scroll);
        this.seen = new ResizeObserver(() => { this.height = 0; this.later(); });
        this.seen.observe(this.scroll);
    }
    heading(column) {
        if (!column.sort)
            return h('div', { class: 'cell ' + column.name, role: 'columnheader' }, column.title);
        const button = h('button', { type: 'button', onclick: () => {
            this.sort = { name: column.name, down: this.sort?.name === column.name && !this.sort.down };
            this.show(this.all);
        } }, column.title);
        return h('div', { class: 'cell ' + column.name, role: 'columnheader', 'data-name': column.name }, button);
    }
    show(rows) {
        const kept = this.rows[this.at] !== undefined ? this.key(this.rows[this.at]) : null;
        this.all = rows;
        const rule = this.columns.find((column) => column.name === this.sort?.name)?.sort;
        this.rows = rule ? rows.toSorted((a, b) => (this.sort.down ? rule(b, a) : rule(a, b))) : rows;
        for (const cell of this.head.children)
            if (cell.dataset.name)
                cell.setAttribute('aria-sort', cell.dataset.name !== this.sort?.name ? 'none' : this.sort.down ? 'descending' : 'ascending');
        const found = kept === null ? -1 : this.rows.findIndex((row) => this.key(row) === kept);
        this.at = found >= 0 ? found : Math.min(this.at, Math.max(0, this.rows.length - 1));
        this.scroll.setAttribute('aria-rowcount', String(this.rows.length));
        this.drawn = '';
        this.later();
    }
    later() {
        this.waits ||= requestAnimationFrame(() => { this.waits = 0; this.draw(); });
    }
    measure() {
        const probe = h('div', { class: 'row', role: 'row' }, this.columns.map((column) => h('div', { class: 'cell ' + column.name }, 'x')));
        this.inner.append(probe);
        this.height = probe.getBoundingClientRect().height || 40;
        probe.remove();
        this.drawn = '';
    }
    draw() {
        if (!this.scroll.isConnected)
            return;
        if (!this.height)
            this.measure();
        const tall = this.scroll.clientHeight, from = Math.max(0, Math.floor(this.scroll.scrollTop / this.height) - 4);
        const to = Math.min(this.rows.length, from + Math.ceil(tall / this.height) + 8);
        const drawn = `${from} ${to} ${this.at}`;
        if (drawn === this.drawn)
            return;
        this.drawn = drawn;
        this.inner.style.height = `${this.rows.length * this.height}px`;
        // Rows that stay keep their elements: a click on one that is exchanged meanwhile would be lost.
        const nodes = [], kept = new Map();
        for (let i = from; i < to; i++) {
            const row = this.rows[i], before = this.nodes.get(row);
            const node = before ?? this.row(row);
            node.id = `row-${i}`;
            node.setAttribute('aria-rowindex', String(i + 1));
            node.style.transform = `translateY(${i * this.height}px)`;
            node.classList.toggle('at', i === this.at);
            kept.set(row, node);
            nodes.push(node);
        }
        this.nodes = kept;
        if (this.rows.length === 0 && this.emptyNode)
            nodes.push(this.emptyNode());
        if (nodes.length !== this.inner.children.length || nodes.some((node, i) => node !== this.inner.children[i]))
            this.place(nodes);
        const current = this.inner.querySelector('.at');
        if (current)
            this.scroll.setAttribute('aria-activedescendant', current.id);
        else
            this.scroll.removeAttribute('aria-activedescendant');
    }
    // Only what has changed is touched.
    place(nodes) {
        const wanted = new Set(nodes);
        for (const child of [...this.inner.children])
            if (!wanted.has(child))
                child.remove();
        nodes.forEach((node, i) => { if (this.inner.children[i] !== node) this.inner.insertBefore(node, this.inner.children[i] ?? null); });
    }
    row(row) {
        const cells = this.cells(row);
        return h('div', { class: `row ${this.open ? 'opens' : ''} ${this.classOf?.(row) ?? ''}`, role: 'row' },
            this.columns.map((column, c) => h('div', { class: 'cell ' + column.name, role: 'gridcell' }, cells[c])));
    }
    pick(node) {
        const row = [...this.nodes].find(([, one]) => one === node)?.[0];
        const i = this.rows.indexOf(row);
        if (row === undefined || i < 0)
            return;
        this.at = i;
        this.draw();
        this.open?.(this.rows[i]);
    }
    keys(event) {
        if (event.target !== this.scroll || event.ctrlKey || event.metaKey || event.altKey)
            return;
        const page = Math.max(1, Math.floor(this.scroll.clientHeight / (this.height || 40)) - 2), last = this.rows.length - 1;
        const to = { ArrowDown: this.at + 1, j: this.at + 1, ArrowUp: this.at - 1, k: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: last }[event.key];
        if (to !== undefined) {
            this.go(Math.min(last, Math.max(0, to)));
            event.preventDefault();
        } else if (event.key === 'Enter' && this.rows[this.at] !== undefined) {
            this.open?.(this.rows[this.at]);
            event.preventDefault();
        }
    }
    go(i) {
        this.at = i;
        const top = i * this.height, head = this.head.offsetHeight, shown = this.scroll.clientHeight - head;
        if (top < this.scroll.scrollTop)
            this.scroll.scrollTop = top;
        else if (top + this.height > this.scroll.scrollTop + shown)
            this.scroll.scrollTop = top + this.height - shown;
        this.draw();
    }
}
