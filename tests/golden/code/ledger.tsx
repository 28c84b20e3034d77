import React, { useState } from "react";

type Props = { title: string; entries: number[] };

/* 余额 at the bottom of the page. */
export const Balance: React.FC<Props> = ({ title, entries }) => {
  const [open, setOpen] = useState(false);

  const toggle = () => {
    setOpen(!open);
  };

  return (
    <section aria-label="余额">
      <h2 onClick={toggle}>{title} ✅</h2>

      {open && (
        <ul>
          {entries.map((cents) => (
            <li key={cents}>{cents / 100} €</li>
          ))}
        </ul>
      )}
    </section>
  );
};

export default function Page() {
  return <Balance title="账本" entries={[1, 2]} />;
}

class Boundary extends React.Component<Props> {
  state = { failed: false };

  render() {
    return this.state.failed ? <p>失败</p> : this.props.children;
  }
}
